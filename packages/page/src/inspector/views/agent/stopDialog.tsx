import type { FollowedAgent } from '../../model/agent/followedAgent.ts'
import type { Inspector } from '../../model/shell/inspector.ts'
import { FormDialog } from '../../parts/formDialog.tsx'

export interface StopDialogProps {
  readonly inspector: Inspector
  readonly view: FollowedAgent
  readonly onClose: () => void
}

/** Asks for confirmation before an agent is ended for good. */
export const StopDialog = ({ inspector, view, onClose }: StopDialogProps) => (
  <FormDialog
    title={`Stop ${view.agentId} for good?`}
    verb="Stop for good"
    kind="danger"
    onSubmit={() => {
      onClose()
      void inspector.attempt(() => inspector.attached.value.connection.client.agent(view.agentId).stop())
    }}
    onClose={onClose}
  >
    <p class="muted">
      This stops the agent and its sub-agents. They cannot be resumed, but their logs stay. To stop only the current
      run, use Abort.
    </p>
  </FormDialog>
)
