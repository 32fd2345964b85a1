import type { FollowedAgent } from '../model/followedAgent.ts'
import type { Inspector } from '../model/inspector.ts'
import { Dialog } from '../parts/dialog.tsx'

export interface StopDialogProps {
  readonly inspector: Inspector
  readonly view: FollowedAgent
  readonly onClose: () => void
}

/** Asks once more before an agent is ended for good. */
export const StopDialog = ({ inspector, view, onClose }: StopDialogProps) => (
  <Dialog title={`Stop ${view.agentId} for good?`} onClose={onClose}>
    <p class="muted">It ends with its sub-agents and cannot be resumed. Its log stays. To end only the run, abort.</p>
    <div class="dialog-actions">
      <button type="button" class="button" onClick={onClose}>
        Cancel
      </button>
      <button
        type="button"
        class="button danger"
        onClick={() => {
          onClose()
          void inspector.attempt(() => inspector.attached.value.connection.client.agent(view.agentId).stop())
        }}
      >
        Stop for good
      </button>
    </div>
  </Dialog>
)
