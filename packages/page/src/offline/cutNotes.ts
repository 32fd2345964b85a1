import { counted } from '../../../charts/src/amounts.ts'
import type { PageFile } from '../sessionPages/sessionFile.ts'

/** Limit of the cut-off logs that are named. */
const mostNamed = 3

/** Describes the parts of a session that are not on the page; empty if the page has all of it. Pure. */
export function cutNotes({ cut = [], leftOut = 0 }: Pick<PageFile, 'cut' | 'leftOut'>): readonly string[] {
  const named = cut
    .slice(0, mostNamed)
    .map(({ agentId, kept, all }) =>
      kept === 0
        ? `none of the ${counted(all, 'record')} of ${agentId}`
        : `the first ${kept} of ${counted(all, 'record')} of ${agentId}`,
    )
  const more = cut.length > mostNamed ? `, and as little of ${counted(cut.length - mostNamed, 'more log')}` : ''
  return [
    ...(cut.length === 0 ? [] : [`This session is too large for a page. It has ${named.join(', ')}${more}.`]),
    ...(leftOut === 0
      ? []
      : [`${counted(leftOut, 'artifact')} of this session ${leftOut === 1 ? 'is' : 'are'} too large for a page.`]),
  ]
}
