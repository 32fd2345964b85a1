import { useState } from 'preact/hooks'
import type { PolicyInfo } from '../../../../../../src/protocol/braking.ts'
import { askedPolicy, type AskedPolicy } from '../../model/calls/askedPolicy.ts'
import type { FollowedAgent } from '../../model/agent/followedAgent.ts'
import type { Inspector } from '../../model/shell/inspector.ts'
import { FormDialog } from '../../parts/formDialog.tsx'

export interface PolicyDialogProps {
  readonly inspector: Inspector
  readonly view: FollowedAgent
  readonly onClose: () => void
}

interface Asked {
  readonly policy: string
  /** `seq` of the last record when the policy was asked. */
  readonly at: number
}

/** Asks a policy by name, whatever its trigger says, and stays open to show the outcome. */
export function PolicyDialog({ inspector, view, onClose }: PolicyDialogProps) {
  const { policies, records } = view.state.value
  const [chosen, setChosen] = useState(policies?.[0]?.name ?? '')
  const [asked, setAsked] = useState<Asked | null>(null)
  const why = inspector.controls.value.brake
  const came = asked === null ? null : askedPolicy(records.slice(asked.at), asked.policy)
  const isUnderWay = came !== null && came.stage !== 'done'
  const ask = async (): Promise<void> => {
    const agent = inspector.attached.value.connection.client.agent(view.agentId)
    setAsked({ policy: chosen, at: records.length })
    if (!(await inspector.attempt(() => agent.brake(chosen)))) setAsked(null)
  }
  return (
    <FormDialog
      title="Ask a policy"
      verb="Ask"
      isOff={why !== null || isUnderWay}
      leave={asked === null ? 'Cancel' : 'Close'}
      onSubmit={() => void ask()}
      onClose={onClose}
    >
      <p class="muted">
        The policy runs between turns, or at once if the agent is idle, whatever its trigger says. It decides what to
        hide from the model; the log keeps everything.
      </p>
      <fieldset class="choices" disabled={isUnderWay}>
        <legend class="hidden">Policy</legend>
        {(policies ?? []).map((policy) => (
          <Choice key={policy.name} policy={policy} isChosen={policy.name === chosen} onChoose={setChosen} />
        ))}
      </fieldset>
      {asked === null || came === null ? null : <Outcome policy={asked.policy} came={came} />}
      {why === null ? null : <p class="problem">{why}</p>}
    </FormDialog>
  )
}

interface ChoiceProps {
  readonly policy: PolicyInfo
  readonly isChosen: boolean
  readonly onChoose: (name: string) => void
}

const Choice = ({ policy: { name, when, decide, keep }, isChosen, onChoose }: ChoiceProps) => (
  <label class="choice">
    <input type="radio" name="policy" value={name} checked={isChosen} onChange={() => onChoose(name)} />
    <span class="choice-text">
      <strong>{name}</strong>
      <span class="choice-parts">
        when <span class="mono">{when}</span> · decided by <span class="mono">{decide}</span> · leaves{' '}
        <span class="mono">{keep}</span>
      </span>
    </span>
  </label>
)

const stages: Readonly<Record<AskedPolicy['stage'], string | null>> = {
  asked: 'was requested and runs before the next turn.',
  consulting: 'is deciding.',
  draining: 'has decided. The agent is applying the decision.',
  done: null,
}

function Outcome({ policy, came: { stage, lines } }: { readonly policy: string; readonly came: AskedPolicy }) {
  const words = stages[stage]
  return (
    <div class="policy-outcome" role="status">
      {words === null ? null : (
        <p>
          <strong>{policy}</strong> {words}
        </p>
      )}
      {lines.map(({ tone, text }) => (
        <p key={text} class={tone === 'bad' ? 'problem' : undefined}>
          {text}
        </p>
      ))}
    </div>
  )
}
