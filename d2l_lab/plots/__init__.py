"""Pictures: curves, timelines and curves that grow, drawn with matplotlib."""
