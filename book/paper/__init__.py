"""The book on paper: the pages of an e-book joined into one document, which a browser prints."""
