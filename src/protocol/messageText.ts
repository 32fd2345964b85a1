// Apart from the schemas, which clients in browsers do without; `messages.ts` has them too.

/** What nothing has used yet. */
export const noUsage: {
  input: number
  output: number
  cacheRead: number
  cacheWrite: number
  reasoning?: number
  estimated?: true
} = Object.freeze({ input: 0, output: 0, cacheRead: 0, cacheWrite: 0 })

/** A block of any type. */
interface SomeBlock {
  readonly type: string
}

/** The text blocks of a message joined without a separator. */
export function textOf<B extends SomeBlock>(
  content: readonly (B | { readonly type: 'text'; readonly text: string })[],
): string {
  let text = ''
  for (const block of content) if (block.type === 'text') text += (block as { readonly text: string }).text
  return text
}

/** The tool calls of a message, in source order. */
export const toolCallsOf = <B extends SomeBlock>(content: readonly B[]): Extract<B, { readonly type: 'toolCall' }>[] =>
  content.filter((block): block is Extract<B, { readonly type: 'toolCall' }> => block.type === 'toolCall')
