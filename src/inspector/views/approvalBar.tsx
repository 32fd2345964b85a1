import { useState } from 'preact/hooks'
import type { PendingApproval } from '../model/agentView.ts'
import type { FollowedAgent } from '../model/followedAgent.ts'
import type { Inspector } from '../model/inspector.ts'
import { ControlButton } from '../parts/controlButton.tsx'
import { CutText } from '../parts/cutText.tsx'

/** Calls that wait for a person, those of sub-agents too, each with its answer. */
export function ApprovalBar({ inspector, view }: { readonly inspector: Inspector; readonly view: FollowedAgent }) {
  const { approvals } = view.state.value
  if (approvals.length === 0) return null
  return (
    <section class="approvals scroll" aria-label="Calls that wait for approval">
      {approvals.map((approval) => (
        <Approval key={approval.key} inspector={inspector} view={view} approval={approval} />
      ))}
    </section>
  )
}

interface ApprovalProps {
  readonly inspector: Inspector
  readonly view: FollowedAgent
  readonly approval: PendingApproval
}

function Approval({ inspector, view, approval }: ApprovalProps) {
  const [reason, setReason] = useState('')
  const { name, input, key, agentId } = approval
  const why = inspector.controls.value.decide
  const decide = (decision: 'approve' | 'deny'): void => {
    const agent = inspector.attached.value.connection.client.agent(view.agentId)
    void inspector.attempt(() => agent.decide(key, decision, reason.trim() === '' ? undefined : reason.trim()))
  }
  const isOwn = agentId === view.agentId
  return (
    <article class="approval" aria-label={`${name} waits for approval`}>
      <div class="approval-what">
        <p>
          May <strong class="mono">{name}</strong> run
          {isOwn ? null : (
            <>
              {' '}
              for <a href={`#agent=${encodeURIComponent(agentId)}`}>{agentId}</a>
            </>
          )}
          ?
        </p>
        <CutText text={typeof input === 'string' ? input : (JSON.stringify(input, null, 2) ?? '')} most={800} />
      </div>
      <div class="approval-answer">
        <input
          class="input"
          aria-label={`Reason, for ${name}`}
          placeholder="Reason (optional)"
          value={reason}
          onInput={({ currentTarget }) => setReason(currentTarget.value)}
        />
        <ControlButton why={why} onUse={() => decide('deny')} kind="danger">
          Deny
        </ControlButton>
        <ControlButton why={why} onUse={() => decide('approve')} kind="primary">
          Approve
        </ControlButton>
      </div>
    </article>
  )
}
