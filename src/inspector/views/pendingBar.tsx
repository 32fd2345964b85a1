import type { FollowedAgent } from '../model/followedAgent.ts'
import type { Inspector } from '../model/inspector.ts'
import { ApprovalCard } from './approvalCard.tsx'
import { QuestionCard } from './questionCard.tsx'

/** What waits for a person, of sub-agents too, each with its answer. */
export function PendingBar({ inspector, view }: { readonly inspector: Inspector; readonly view: FollowedAgent }) {
  const { pending } = view.state.value
  if (pending.length === 0) return null
  return (
    <section class="approvals scroll" aria-label="What waits for you">
      {pending.map((one) =>
        one.kind === 'approval' ? (
          <ApprovalCard key={one.key} inspector={inspector} via={view.agentId} approval={one} />
        ) : (
          <QuestionCard key={one.key} inspector={inspector} via={view.agentId} pending={one} />
        ),
      )}
    </section>
  )
}
