/** Keeps the beginning and the end of a text of any length, in bounded memory. Sizes are UTF-16 units. */
export interface BoundedOutput {
  add(text: string): void
  /** The text, or its beginning and end with a line between that says how much was left out. */
  text(): string
}

export function boundedOutput(headChars: number, tailChars: number): BoundedOutput {
  let head = ''
  let tail = ''
  let dropped = 0
  const trim = (): void => {
    const excess = Math.max(0, tail.length - tailChars)
    dropped += excess
    tail = tail.slice(excess)
  }
  return {
    add: (text) => {
      const room = headChars - head.length
      head += text.slice(0, room)
      tail += text.slice(room)
      if (tail.length > 2 * tailChars) trim()
    },
    text: () => {
      trim()
      const cut = dropped === 0 ? '' : `\n[… ${dropped} characters left out …]\n`
      return (head + cut + tail).toWellFormed()
    },
  }
}
