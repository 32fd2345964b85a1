/** A fenced block, or a span in backticks. */
const code = /^ *(```+|~~~+)[^\n]*\n[\s\S]*?^ *\1[ \t]*$|(?<!`)(`+)(?!`)[\s\S]*?(?<!`)\2(?!`)/gm

/** A Markdown text with everything changed that is not code. Pure. */
export function outsideCode(markdown: string, change: (text: string) => string): string {
  let made = ''
  let end = 0
  for (const { index, 0: found } of markdown.matchAll(code)) {
    made += change(markdown.slice(end, index)) + found
    end = index + found.length
  }
  return made + change(markdown.slice(end))
}
