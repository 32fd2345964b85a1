import { dollars } from '../../../../../charts/src/amounts.ts'
import type { Cause } from '../../model/sessions/causes.ts'
import { loopTarget } from '../../model/sessions/goBack.ts'
import { formatCount } from '../../model/words/numbers.ts'
import { ControlButton } from '../../parts/controlButton.tsx'
import { StateDot } from '../../parts/stateDot.tsx'

/** An action of a person on all agents of a cause. */
export type CauseAct = 'turn' | 'retry' | 'resume' | 'goBack' | 'deny'

export interface HomeCauseProps {
  readonly cause: Cause
  readonly index: number
  readonly isOpen: boolean
  readonly isActive: boolean
  /** Reason why no action is possible; `null` if one is. */
  readonly why: string | null
  readonly onAct: (act: CauseAct) => void
}

/** One line for all agents that stand still for the same cause. */
export function HomeCause({ cause, index, isOpen, isActive, why, onAct }: HomeCauseProps) {
  const { standing, words, detail, rows } = cause
  const count = formatCount(rows.length)
  const definitions = new Set(rows.map(({ of }) => of.definition))
  const costUsd = rows.reduce((sum, row) => sum + row.costUsd, 0)
  const button = (act: CauseAct, verb: string, kind: 'danger' | '' = '') => (
    <ControlButton
      why={why}
      kind={kind}
      class="slim"
      label={`${verb} ${count}: ${words}`}
      tabIndex={isActive ? 0 : -1}
      onUse={() => onAct(act)}
    >
      {verb} {count}
    </ControlButton>
  )
  return (
    <div
      class={`home-row home-cause is-${standing} ${isActive ? 'active' : ''}`}
      role="row"
      id={`overview-${index}`}
      aria-selected={isActive}
      onClick={() => onAct('turn')}
    >
      <span class="home-name" role="gridcell">
        <StateDot state={standing} />
        <span class="home-turn" aria-hidden="true">
          {isOpen ? '▾' : '▸'}
        </span>
        <span class="hidden">{isOpen ? 'Open: ' : 'Closed: '}</span>
        <strong class="cut home-title">
          <span class="number">{count}</span> {standing === 'waiting' ? 'wait for you' : words}
        </strong>
        {definitions.size === 1 ? <bdi class="cut faint small home-about">{[...definitions][0]}</bdi> : null}
      </span>
      <span class="home-mid" role="presentation">
        <bdi class={`cut home-what ${standing === 'failed' ? 'is-bad' : ''}`} role="gridcell">
          {detail}
        </bdi>
        <span class="home-acts" role="gridcell" onClick={(event) => event.stopPropagation()}>
          {standing === 'failed' ? button('retry', 'Retry') : null}
          {standing === 'paused' && rows.every((row) => loopTarget(row) !== undefined)
            ? button('goBack', 'Go back')
            : null}
          {standing === 'paused' ? button('resume', 'Resume') : null}
          {standing === 'waiting' ? button('deny', 'Deny', 'danger') : null}
        </span>
      </span>
      <span class="home-time" role="gridcell" />
      <span class="home-context" role="gridcell" />
      <span class="home-cost number faint" role="gridcell">
        {costUsd === 0 ? '' : dollars(costUsd)}
      </span>
    </div>
  )
}
