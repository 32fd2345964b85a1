/** Two blocks of code that follow each other: another project's, then ours. */
const pair = /^```ts theirs\n([\s\S]*?)^```\n\n```ts\n([\s\S]*?)^```$/gm

/** Puts the code of another project beside ours, each with its name above. Pure. */
export function beside(markdown: string, title: string): string {
  const theirs = title.replace(/^Coming from (?:the )?/, '')
  const block = (name: string, code: string): string => `\`\`\`ts title="${name}" wrap\n${code}\`\`\``
  return markdown.replaceAll(
    pair,
    (_, their: string, our: string) =>
      `<div class="beside">\n\n${block(theirs, their)}\n\n${block('escapement', our)}\n\n</div>`,
  )
}
