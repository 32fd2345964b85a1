import type { JSX } from 'preact'
import type { Block } from '../../protocol/messages.ts'
import { formatCount } from '../model/numbers.ts'

/** Only pictures that cannot act are shown as such. */
const shownTypes = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'image/avif'])

/** Pictures of a message; of a kind that a browser may not show, or should not, their size. */
export function Images({ content }: { readonly content: readonly Block[] }): JSX.Element | null {
  const images = content.filter((block) => block.type === 'image')
  if (images.length === 0) return null
  return (
    <div class="conversation-images">
      {images.map(({ data, mimeType }) =>
        shownTypes.has(mimeType) ? (
          <img src={`data:${mimeType};base64,${data}`} alt={`Picture in the message (${mimeType})`} loading="lazy" />
        ) : (
          <span class="badge">
            {mimeType}, {formatCount(data.length)} characters of base64
          </span>
        ),
      )}
    </div>
  )
}
