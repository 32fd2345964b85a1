import { withoutControls } from '../../../../charts/src/plainText.ts'
import { linkTarget } from '../../../../charts/src/text/linkTarget.ts'
import { textOfSpans, type MarkdownSpan } from '../../../../charts/src/text/markdownTree.ts'
import type { Colours } from '../colours.ts'
import { linked } from '../links.ts'
import type { Run } from './filledRows.ts'

/** Appearance of a reply. */
export interface ReplyLook {
  readonly colours: Colours
  /** True if the terminal supports links. */
  readonly hasLinks: boolean
}

/** Matches a text that looks like an address, so that its link must not lead elsewhere. */
const addressLike = /^\s*(?:[a-z][a-z+.-]*:|www\.|[\w-]+(?:\.[\w-]+)*\.[a-z]{2,}(?:\/|$))/i

const same = (text: string): string => text

/** Converts the spans of a line to runs of one style each, without control characters. Pure. */
export function spanRuns(spans: readonly MarkdownSpan[], look: ReplyLook, paint: Run['paint'] = same): Run[] {
  const { colours } = look
  return spans.flatMap((span): Run[] => {
    switch (span.type) {
      case 'text':
        return [{ text: withoutControls(span.text), paint }]
      case 'break':
        return [{ text: '\n', paint }]
      case 'code':
        return marked('`', [{ text: withoutControls(span.text), paint: (text) => paint(colours.cyan(text)) }], look)
      case 'strong':
        return marked(
          '**',
          spanRuns(span.spans, look, (text) => paint(colours.bold(text))),
          look,
        )
      case 'emphasis':
        return marked(
          '*',
          spanRuns(span.spans, look, (text) => paint(colours.italic(text))),
          look,
        )
      case 'strike':
        return marked(
          '~~',
          spanRuns(span.spans, look, (text) => paint(colours.strike(text))),
          look,
        )
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

/** Returns runs between Markdown marks where no colour or style distinguishes them. */
const marked = (mark: string, runs: readonly Run[], { colours }: ReplyLook): Run[] =>
  colours.theme === 'none' ? [{ text: mark, paint: same }, ...runs, { text: mark, paint: same }] : [...runs]

const addressRun = (url: string, { colours }: ReplyLook): Run[] =>
  url === '' ? [] : [{ text: ` (${withoutControls(url).replaceAll('\n', '')})`, paint: colours.dim }]

/** Returns the runs of a link. Its target is written out unless the link's text is the target or the terminal shows it. */
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
