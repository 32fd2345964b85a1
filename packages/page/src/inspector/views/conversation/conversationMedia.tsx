import type { JSX } from 'preact'
import type { Block, FileBlock, ImageBlock } from '../../../../../../src/protocol/messages.ts'
import { isMedia } from '../../../../../../src/protocol/text/messageText.ts'
import { isPicture } from '../../model/calls/keptResults.ts'
import { formatCount } from '../../model/words/numbers.ts'

/** Pictures and files of a message; files that a browser cannot or should not show have their size instead. */
export function Media({ content }: { readonly content: readonly Block[] }): JSX.Element | null {
  const media = content.filter(isMedia)
  if (media.length === 0) return null
  return (
    <div class="conversation-images">
      {media.map((block) => (block.type === 'file' ? fileOf(block) : imageOf(block)))}
    </div>
  )
}

/** Returns a link that saves the file. It never opens in the browser, because its content may have scripts. */
const fileOf = ({ data, mimeType, name = 'file' }: FileBlock): JSX.Element => (
  <a class="badge" href={`data:application/octet-stream;base64,${data}`} download={name}>
    {name}, {mimeType}, {formatCount(Math.ceil((data.length * 3) / 4))} bytes
  </a>
)

/** Shows an image. The page does not fetch an image from another address: it is a link that a person may follow. */
function imageOf(image: ImageBlock): JSX.Element {
  if ('url' in image)
    // A log from elsewhere may hold any address.
    return !/^https?:/i.test(image.url) ? (
      <span class="badge">{image.url}</span>
    ) : (
      <a class="mono cut" href={image.url} target="_blank" rel="noopener noreferrer">
        {image.url}
      </a>
    )
  const { data, mimeType } = image
  return isPicture(mimeType) ? (
    <img src={`data:${mimeType};base64,${data}`} alt={`Picture in the message (${mimeType})`} loading="lazy" />
  ) : (
    <span class="badge">
      {mimeType}, {formatCount(data.length)} characters of base64
    </span>
  )
}
