// For each part of the deck that exceeds `margin` times its room a line; `smallest` is in pixels of a letter of code,
// `lowest` in pixels of the height of a picture.
([smallest, lowest, margin]) => {
  const found = [];
  for (const [place, slide] of Reveal.getSlides().entries()) {
    const {h, v} = Reveal.getIndices(slide);
    Reveal.slide(h, v);
    const inside = slide.querySelector('.box').clientWidth - 60;  // its padding
    const name = `slide ${place + 1}, ${slide.querySelector('h1, h2').textContent}`;
    for (const part of [slide, ...slide.querySelectorAll('.box, .code, pre, table, .picture')]) {
      const what = `${name}: ${part.tagName.toLowerCase()}.${part.className}`;
      if (part.tagName !== 'TABLE' && part.scrollHeight > margin * part.clientHeight)
        found.push(`${what} is ${part.scrollHeight} high, has ${part.clientHeight}`);
      const [width, room] = part.tagName === 'TABLE'
        ? [part.offsetWidth, inside] : [part.scrollWidth, part.clientWidth];
      if (width > margin * room) found.push(`${what} is ${width} wide, has ${room}`);
      if (part.matches('pre') && parseFloat(getComputedStyle(part).fontSize) < smallest)
        found.push(`${what} has letters of ${getComputedStyle(part).fontSize}`);
      if (part.matches('.picture') && part.clientHeight < lowest)
        found.push(`${what} is only ${part.clientHeight} high`);
    }
  }
  return found;
}
