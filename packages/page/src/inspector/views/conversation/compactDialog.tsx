import type { FollowedAgent } from '../../model/agent/followedAgent.ts'
import type { Inspector } from '../../model/shell/inspector.ts'
import { AskDialog } from '../../parts/askDialog.tsx'

interface CompactDialogProps {
  readonly inspector: Inspector
  readonly view: FollowedAgent
  readonly onClose: () => void
}

/** Dialog for a person's compaction: a summary takes the place of the middle of the conversation. */
export const CompactDialog = (props: CompactDialogProps) => (
  <AskDialog
    {...props}
    title="Compact the conversation"
    label="What the summary should focus on"
    empty="Optional. Used only when a model writes the summary"
    verb="Compact"
    ask={(agent, focus) => agent.compact({ focus })}
    answerOf={(record) => (record.type === 'compaction.end' && record.requestId !== undefined ? record : undefined)}
  >
    A summary replaces the middle of the conversation for the model. Messages from people and pinned steps stay as they
    are; the log keeps everything.
  </AskDialog>
)
