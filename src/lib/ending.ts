/**
 * Speed: how the program ends once nothing is left to do. At once, where it may: Node would take its heap apart first, which
 * takes two milliseconds. To take this out, delete this file.
 */
let endsAtOnce = true;

/** What was opened is closed for good only when Node takes its heap apart. */
export function endSlowly(): void {
  endsAtOnce = false;
}

export function endSoon(): void {
  if (endsAtOnce) process.exit();
}
