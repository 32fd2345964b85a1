import { withoutControls } from '../../../charts/plainText.ts'
import { linkTarget } from '../../../text/linkTarget.ts'
import { textOfSpans, type MarkdownSpan } from '../../../text/markdownTree.ts'
import type { Colours } from '../colours.ts'
import { linked } from '../links.ts'
import type { Run } from './filledRows.ts'

/** How a reply is to look. */
export interface ReplyLook {
  readonly colours: Colours
  /** Whether the terminal takes links. */
  readonly hasLinks: boolean
}

/** Looks like an address, so that it must not lead elsewhere. */
const addressLike = /^\s*(?:[a-z][a-z+.-]*:|www\.|[\w-]+(?:\.[\w-]+)*\.[a-z]{2,}(?:\/|$))/i

const same = (text: string): string => text

/** What stands in a line as runs of one style each, without control characters. Pure. */
export function spanRuns(spans: readonly MarkdownSpan[], look: ReplyLook, paint: Run['paint'] = same): Run[] {
  const { colours } = look
  return spans.flatMap((span): Run[] => {
    switch (span.type) {
      case 'text':
        return [{ text: withoutControls(span.text), paint }]
      case 'break':
        return [{ text: '\n', paint }]
      case 'code':
        return [{ text: withoutControls(span.text), paint: (text) => paint(colours.cyan(text)) }]
      case 'strong':
        return spanRuns(span.spans, look, (text) => paint(colours.bold(text)))
      case 'emphasis':
        return spanRuns(span.spans, look, (text) => paint(colours.italic(text)))
      case 'strike':
        return spanRuns(span.spans, look, (text) => paint(colours.strike(text)))
      case 'image':
        return [
          {
            text: `[image${span.alt === '' ? '' : `: ${withoutControls(span.alt)}`}]`,
            paint: (text) => paint(colours.dim(text)),
          },
          ...addressRun(span.url, look),
        ]
      case 'link':
        return linkRuns(span, look, paint)
    }
  })
}

const addressRun = (url: string, { colours }: ReplyLook): Run[] =>
  url === '' ? [] : [{ text: ` (${withoutControls(url).replaceAll('\n', '')})`, paint: colours.dim }]

/** Where a link leads is told, unless it is what it is called or the terminal tells it. */
function linkRuns(
  { url, spans }: Extract<MarkdownSpan, { type: 'link' }>,
  look: ReplyLook,
  paint: Run['paint'],
): Run[] {
  const { colours, hasLinks } = look
  const target = linkTarget(url)
  const called = textOfSpans(spans)
  if (target === undefined) return [...spanRuns(spans, look, paint), ...addressRun(url, look)]
  const isSame = called === url || linkTarget(called) === target || `mailto:${called}` === url
  const isClear = isSame || (hasLinks && !addressLike.test(called))
  const underlined = (text: string): string => paint(colours.underline(text))
  const link = hasLinks ? (text: string) => linked(underlined(text), target) : underlined
  return [...spanRuns(spans, look, link), ...(isClear ? [] : addressRun(url, look))]
}
