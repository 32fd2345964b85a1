import { useMemo, useState } from 'preact/hooks'
import { counted } from '../../../../charts/src/amounts.ts'
import { languageOfPath } from '../../../../charts/src/text/languageOfPath.ts'
import { visible } from '../../../../charts/src/text/visible.ts'
import type { FileEdit } from '../../../../charts/src/text/edits.ts'
import type { DiffHunk, DiffLine } from '../../../../charts/src/text/lineDiff.ts'
import { formatCount } from '../model/words/numbers.ts'
import { forDisplay } from '../model/words/shortText.ts'
import { ColouredCode } from './codeText.tsx'
import { stopping } from './stopping.ts'

/** Numbers of lines that an edit adds and removes: `+3 −1`. */
export const EditSize = ({ edit }: { readonly edit: FileEdit }) => {
  const { added, removed } = edit.diff
  return (
    <span class="diff-size number">
      <span class="hidden">
        {counted(added, 'line')} added, {counted(removed, 'line')} removed
      </span>
      <span aria-hidden="true">
        {added > 0 || removed === 0 ? <span class="is-added">+{formatCount(added)}</span> : null}
        {removed > 0 ? <span class="is-removed"> −{formatCount(removed)}</span> : null}
      </span>
    </span>
  )
}

export interface DiffViewProps {
  readonly edit: FileEdit
  /** Number of lines shown at first. */
  readonly lines?: number
}

/** An edit as the lines it changes. */
export function DiffView({ edit, lines = 24 }: DiffViewProps) {
  const [isWhole, setWhole] = useState(false)
  const { hunks, isCoarse } = edit.diff
  const total = hunks.reduce((sum, hunk) => sum + hunk.lines.length, 0)
  // A few lines more are shown at once.
  const isLong = total > lines + 6
  const shown = useMemo(
    () => firstLines(hunks, isLong && !isWhole ? lines : mostLines),
    [hunks, isLong, isWhole, lines],
  )
  const language = languageOfPath(edit.path)
  return (
    <div class="diff">
      <div class="diff-head">
        <span class="mono cut" title={forDisplay(edit.path)}>
          {forDisplay(edit.path)}
        </span>
        <span class="muted">{edit.type === 'write' ? 'whole file' : ''}</span>
        <EditSize edit={edit} />
      </div>
      {total === 0 ? <p class="muted diff-none">No line changes.</p> : null}
      <div class="diff-body scroll" tabIndex={0} role="group" aria-label={`Changes of ${edit.path.slice(-200)}`}>
        {shown.map((hunk, index) => (
          <div key={index} class="diff-hunk">
            {hunk.map((line, at) => (
              <Line key={at} line={line} language={language} />
            ))}
          </div>
        ))}
      </div>
      {isLong ? (
        <button type="button" class="conversation-more" onClick={stopping(() => setWhole(!isWhole))}>
          {isWhole ? 'Show less' : `Show all ${formatCount(total)} lines`}
        </button>
      ) : null}
      {isWhole && total > mostLines ? <p class="muted">The first {formatCount(mostLines)} lines are shown.</p> : null}
      {isCoarse ? <p class="muted">Too many changes to match the lines.</p> : null}
    </div>
  )
}

/** Maximum number of lines of one edit in the document, and of characters of a line. */
export const mostLines = 2_000
const mostChars = 2_000

/** Returns true if all of an edit, its lines and its path, can be shown and seen. Pure. */
export const isSeenWhole = ({ path, diff: { hunks } }: FileEdit): boolean => {
  const lines = hunks.flatMap((hunk) => hunk.lines)
  const isSeen = (text: string): boolean => text.length <= mostChars && visible(text) === text
  return lines.length <= mostLines && isSeen(path) && lines.every(({ text }) => isSeen(text))
}

function firstLines(hunks: readonly DiffHunk[], most: number): readonly (readonly DiffLine[])[] {
  let left = most
  return hunks.flatMap(({ lines }) => {
    const taken = lines.slice(0, left)
    left -= taken.length
    return taken.length === 0 ? [] : [taken]
  })
}

const signs = { same: ' ', added: '+', removed: '−' } as const
const words = { same: '', added: 'added: ', removed: 'removed: ' } as const

const Line = ({ line, language }: { readonly line: DiffLine; readonly language: string }) => (
  <div class={`diff-line is-${line.type}`}>
    <span class="diff-sign" aria-hidden="true">
      {signs[line.type]}
    </span>
    <span class="hidden">{words[line.type]}</span>
    <ColouredCode language={language} text={line.text.slice(0, mostChars)} />
  </div>
)
