import type { ContentBlock } from '@agentclientprotocol/sdk'
import { RuntimeError } from '../../protocol/errors.ts'
import type { PlainBlock } from '../../protocol/messages.ts'

type BlockOf<T extends ContentBlock['type']> = Extract<ContentBlock, { type: T }>

const refuse = (what: string): never => {
  throw new RuntimeError('INVALID_CONTENT', `${what} cannot be taken: text, images, links and text resources can.`)
}

const readers: { readonly [T in ContentBlock['type']]: (block: BlockOf<T>) => PlainBlock } = {
  text: ({ text }) => ({ type: 'text', text }),
  image: ({ data, mimeType }) => ({ type: 'image', data, mimeType }),
  audio: ({ mimeType }) => refuse(`Audio (${mimeType})`),
  resource_link: ({ name, uri, title, description }) => ({
    type: 'text',
    text: `[${oneLine(title ?? name)}](${uri})${description == null ? '' : `: ${description}`}`,
  }),
  resource: ({ resource }) => {
    if ('text' in resource)
      return { type: 'text', text: `<resource uri="${resource.uri}">\n${resource.text}\n</resource>` }
    if (resource.mimeType?.startsWith('image/') !== true) return refuse(`The binary resource ${resource.uri}`)
    return { type: 'image', data: resource.blob, mimeType: resource.mimeType }
  },
}

const oneLine = (text: string): string => text.replace(/[\s[\]]+/g, ' ').trim()

/**
 * What a client's user said, as an agent takes it: a link becomes a Markdown link, an embedded text is given with its address.
 *
 * @throws RuntimeError `INVALID_CONTENT` for audio and for binary resources that are no images
 */
export const promptContent = (blocks: readonly ContentBlock[]): PlainBlock[] =>
  blocks.map((block) => (readers[block.type] as (block: ContentBlock) => PlainBlock)(block))
