import type { JSX } from 'preact'
import { callLine } from '../../../../../charts/src/toolLine.ts'
import { formatNodeId } from '../../../../../../src/protocol/text/nodeIds.ts'
import { textOf } from '../../../../../../src/protocol/text/messageText.ts'
import type { RepeatRow } from '../../model/conversation/graphRow.ts'
import { formatCount } from '../../model/words/numbers.ts'
import { forDisplay, oneLine } from '../../model/words/shortText.ts'

export interface RepeatBodyProps {
  readonly row: RepeatRow
  readonly toggle: JSX.Element | null
}

/** A call that failed again and again: `npm test failed 62 times`. */
export const RepeatBody = ({ row, toggle }: RepeatBodyProps): JSX.Element => (
  <div class="conversation-head is-call">
    {toggle}
    <span class="conversation-tool mono">{forDisplay(callLine(row.name, row.input))}</span>
    <span class="badge bad">failed {formatCount(row.times)} times</span>
    <span class="conversation-outcome cut is-bad">{oneLine(textOf(row.result.content))}</span>
    <span class="conversation-meta number">
      <span class="conversation-id">
        {formatNodeId(row.from)}–{formatNodeId(row.to)}
      </span>
    </span>
  </div>
)
