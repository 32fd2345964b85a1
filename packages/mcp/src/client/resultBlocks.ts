import { z } from 'zod'
import { isTextual } from '../../../../src/protocol/text/fileText.ts'
import { isNestedDeeper } from '../../../../src/protocol/checks/nesting.ts'
import { isBase64, pictureType, type SaidBlock } from '../../../../src/protocol/text/saidContent.ts'

/** Schema of a server's answer to a call. Blocks are parsed one by one, so that only a block of an unknown kind is lost. */
export const callResultSchema = z.looseObject({
  content: z.array(z.unknown()).optional().catch(undefined),
  structuredContent: z.unknown().optional(),
  isError: z.boolean().optional().catch(undefined),
})
export type CallResult = z.infer<typeof callResultSchema>

/** Maximum nesting, more than any real data has. Readers use a stack level for each. */
const mostLevels = 500

/** Checks the nesting of a value. @throws Error if it is too deep to be read */
export function checkDepth<T>(result: T): T {
  if (!isNestedDeeper(result, mostLevels)) return result
  throw new Error(`The server's answer is nested more than ${mostLevels} levels deep, and was not read.`)
}

const resourceSchema = z.looseObject({
  uri: z.string(),
  mimeType: z.string().optional(),
  text: z.string().optional(),
  blob: z.string().optional(),
})
export type ResourceContents = z.infer<typeof resourceSchema>

const blockSchema = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('text'), text: z.string() }),
  z.looseObject({ type: z.literal('image'), data: z.string(), mimeType: z.string() }),
  z.looseObject({ type: z.literal('audio'), data: z.string(), mimeType: z.string() }),
  z.looseObject({
    type: z.literal('resource_link'),
    uri: z.string(),
    name: z.string().optional(),
    title: z.string().optional(),
    description: z.string().optional(),
    mimeType: z.string().optional(),
    size: z.number().optional(),
  }),
  z.looseObject({ type: z.literal('resource'), resource: resourceSchema }),
])
type Block = z.infer<typeof blockSchema>

const text = (words: string): SaidBlock => ({ type: 'text', text: words })

const present = (parts: readonly (string | undefined)[]): string =>
  parts.filter((part) => part !== undefined && part !== '').join(', ')

/**
 * Converts bytes for a model: images, PDFs and recordings as such, text as text, anything else as one line of text. A
 * provider refuses a whole request for an unknown file type, and would refuse it for the rest of the conversation.
 */
function bytes(given: string, mimeType: string | undefined, name?: string): SaidBlock {
  // Many encoders break the line now and then.
  const data = given.replaceAll(/\s+/g, '')
  const type = (mimeType ?? 'application/octet-stream').split(';', 1)[0]!.trim().toLowerCase()
  if (!isBase64(data)) return unshown([name, type, 'which is not base64'])
  const picture = pictureType(type)
  if (picture !== undefined) return { type: 'image', data, mimeType: picture }
  if (isTextual(type)) return text(Buffer.from(data, 'base64').toString('utf8'))
  if (/^audio\/[\w.+-]+$|^application\/pdf$/.test(type))
    return { type: 'file', data, mimeType: type, ...(name === undefined ? {} : { name }) }
  return unshown([name ?? 'a file', type, `${Buffer.byteLength(data, 'base64')} bytes`])
}

const unshown = (about: readonly (string | undefined)[]): SaidBlock => text(`[${present(about)}; it cannot be shown]`)

const makers: { readonly [Type in Block['type']]: (block: Extract<Block, { type: Type }>) => readonly SaidBlock[] } = {
  text: ({ text: words }) => [text(words)],
  image: ({ data, mimeType }) => [bytes(data, mimeType)],
  audio: ({ data, mimeType }) => [bytes(data, mimeType)],
  resource_link: ({ uri, name, title, description, mimeType, size }) => [
    text(
      `[resource ${uri}${bracketed(present([title ?? name, mimeType, size === undefined ? '' : `${size} bytes`, description]))}]`,
    ),
  ],
  resource: ({ resource }) => resourceBlocks(resource),
}

const bracketed = (words: string): string => (words === '' ? '' : ` (${words})`)

/** Returns the blocks of a resource, with its address first. */
export function resourceBlocks({ uri, mimeType, text: words, blob }: ResourceContents): readonly SaidBlock[] {
  if (words !== undefined) return [text(`[resource ${uri}${bracketed(mimeType ?? '')}]`), text(words)]
  return blob === undefined
    ? [text(`[resource ${uri}: it is empty]`)]
    : [text(`[resource ${uri}]`), bytes(blob, mimeType, uri)]
}

/** Returns the blocks of a resource's contents. */
export const readContents = (contents: readonly unknown[]): readonly SaidBlock[] =>
  checkDepth(contents).flatMap((one) => {
    const read = resourceSchema.safeParse(one)
    return read.success ? resourceBlocks(read.data) : [unknownBlock(one)]
  })

const unknownBlock = (block: unknown): SaidBlock =>
  text(`[a block of an unknown kind] ${JSON.stringify(block).slice(0, 2_000)}`)

export function readBlock(block: unknown): readonly SaidBlock[] {
  const read = blockSchema.safeParse(block)
  if (!read.success) return [unknownBlock(block)]
  const make = makers[read.data.type] as (block: Block) => readonly SaidBlock[]
  return make(read.data)
}

/** Converts data to text. Data nested too deeply for JSON is named instead of throwing. */
function jsonText(data: unknown): string {
  try {
    return JSON.stringify(data)
  } catch {
    return '(the server’s data is nested too deep to be shown)'
  }
}

/** Returns the blocks of a result that a model gets. Data is used only where there are no blocks: servers repeat it as text. Pure. */
export function resultBlocks({ content = [], structuredContent }: CallResult): readonly SaidBlock[] {
  const blocks = content.flatMap(readBlock).filter((block) => block.type !== 'text' || block.text !== '')
  if (blocks.length > 0) return blocks
  return [text(structuredContent === undefined ? '(no output)' : jsonText(structuredContent))]
}

/** Returns the text of a failed call as an error message. */
export const errorText = (result: CallResult): string =>
  resultBlocks(result)
    .map((block) => (block.type === 'text' ? block.text : `[${block.mimeType ?? block.type}]`))
    .join('\n')
