// Before the deck starts: on each slide the largest letters of code with which it fits its box.

const SIZES = [24, 22, 20, 18, 16, 15, 14];  // pixels of code and outputs

function fits(box) {
  const lines = [...box.querySelectorAll('.code pre, pre.output')];
  return box.scrollHeight <= box.clientHeight && lines.every(each => each.scrollWidth <= each.clientWidth);
}

// Lines of an output are broken only where they are too long for the smallest letters.
function breakLines(box) {
  box.style.setProperty('--code', `${SIZES.at(-1)}px`);
  for (const output of box.querySelectorAll('pre.output'))
    output.classList.toggle('broken', output.scrollWidth > output.clientWidth);
}

// Where the smallest letters are too large, the longest code that has an output is left out, then the next.
function fit(box) {
  for (const size of SIZES) {
    box.style.setProperty('--code', `${size}px`);
    if (fits(box)) return;
  }
  const codes = [...box.querySelectorAll('.code.shown')].sort((one, other) => one.offsetHeight - other.offsetHeight);
  if (codes.length) {
    codes.pop().remove();
    fit(box);
  }
}

async function fitAll() {
  await Promise.all([...document.fonts].map(face => face.load()));
  const slides = document.querySelector('.slides');
  slides.classList.add('measured');  // all slides are laid out
  for (const box of slides.querySelectorAll('.box')) {
    breakLines(box);
    fit(box);
  }
  slides.classList.remove('measured');
}
