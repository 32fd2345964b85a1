/** Returns true if a text is as a pattern says, in which `*` stands for any characters. Time is at most proportional to both. Pure. */
export function fitsStars(pattern: string, text: string): boolean {
  let at = 0
  let star = -1
  let retry = 0
  for (let i = 0; i < text.length;) {
    if (pattern[at] === '*') {
      star = at++
      retry = i
    } else if (pattern[at] === text[i]) {
      at++
      i++
    } else if (star >= 0) {
      at = star + 1
      i = ++retry
    } else return false
  }
  while (pattern[at] === '*') at++
  return at === pattern.length
}
