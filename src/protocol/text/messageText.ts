// Apart from the schemas, which browsers do without: the types are those that `messages.ts` infers, which has these functions too.

interface Usage {
  input: number
  output: number
  cacheRead: number
  cacheWrite: number
  reasoning?: number
  estimated?: true
}

interface SomeBlock {
  readonly type: string
}

type MediaOf<B extends SomeBlock> = Extract<B, { readonly type: 'image' | 'file' }>

/** Zero usage. */
export const noUsage: Usage = Object.freeze({ input: 0, output: 0, cacheRead: 0, cacheWrite: 0 })

/** Adds two usages. `reasoning` and `estimated` are present if either has them. */
export function addUsage(a: Usage, b: Usage): Usage {
  // Most turns have one reply, and its log keeps both.
  if (a === noUsage) return b
  const sum: Usage = {
    input: a.input + b.input,
    output: a.output + b.output,
    cacheRead: a.cacheRead + b.cacheRead,
    cacheWrite: a.cacheWrite + b.cacheWrite,
  }
  if (a.reasoning !== undefined || b.reasoning !== undefined) sum.reasoning = (a.reasoning ?? 0) + (b.reasoning ?? 0)
  if (a.estimated === true || b.estimated === true) sum.estimated = true
  return sum
}

/**
 * Returns all tokens that passed through the model, including cached ones: `input`, `output`, `cacheRead` and `cacheWrite` together. Pure.
 *
 * @example
 * ```ts
 * const { usage } = await agent.prompt('Fix the failing test').result
 * console.log(`${totalTokens(usage)} tokens`)
 * ```
 */
export const totalTokens = (usage: Usage): number => usage.input + usage.output + usage.cacheRead + usage.cacheWrite

/** Returns the content of a result as the tool gave it, without the runtime's additions. */
export const saidByTool = <B extends SomeBlock>({
  content,
  hasLesson,
}: {
  readonly content: readonly B[]
  readonly hasLesson?: true
}): readonly B[] => (hasLesson === true ? content.slice(0, -1) : content)

export const isMedia = <B extends SomeBlock>(block: B): block is MediaOf<B> =>
  block.type === 'image' || block.type === 'file'

/** Describes an image or a file in a few words: its address, or its name and type. */
export function mediaText(
  block:
    | { readonly type: 'image'; readonly data: string; readonly mimeType: string }
    | { readonly type: 'image'; readonly url: string; readonly mimeType?: string }
    | { readonly type: 'file'; readonly data: string; readonly mimeType: string; readonly name?: string },
): string {
  if ('url' in block) return `(an image, ${block.url})`
  if (block.type === 'image') return `(an image, ${block.mimeType})`
  return `(a file, ${block.name === undefined ? '' : `${block.name}, `}${block.mimeType})`
}

/** Counts images and files in words: `2 images, 1 file`. Returns an empty text if there are none. */
export function countMedia<B extends SomeBlock>(content: readonly B[]): string {
  const counts = ['image', 'file'].map((kind) => {
    const count = content.filter(({ type }) => type === kind).length
    return count === 0 ? '' : `${count} ${kind}${count === 1 ? '' : 's'}`
  })
  return counts.filter((count) => count !== '').join(', ')
}

/** Returns the text blocks of a message, joined without a separator. */
export function textOf<B extends SomeBlock>(
  content: readonly (B | { readonly type: 'text'; readonly text: string })[],
): string {
  let text = ''
  for (const block of content) if (block.type === 'text') text += (block as { readonly text: string }).text
  return text
}

/** Describes a provider's own action in a few words. */
export const providedText = ({
  kind,
  name,
  provider,
}: {
  readonly kind: string
  readonly name: string
  readonly provider: string
}): string => `${kind} of ${provider}: ${name}`

/** Returns the tool calls of a message, in source order. */
export const toolCallsOf = <B extends SomeBlock>(content: readonly B[]): Extract<B, { readonly type: 'toolCall' }>[] =>
  content.filter((block): block is Extract<B, { readonly type: 'toolCall' }> => block.type === 'toolCall')
