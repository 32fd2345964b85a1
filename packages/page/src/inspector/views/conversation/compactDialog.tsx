import type { FollowedAgent } from '../../model/agent/followedAgent.ts'
import type { Inspector } from '../../model/shell/inspector.ts'
import { AskDialog } from '../../parts/askDialog.tsx'

interface CompactDialogProps {
  readonly inspector: Inspector
  readonly view: FollowedAgent
  readonly onClose: () => void
}

/** A person's compaction: a summary takes the place of the middle of the conversation. */
export const CompactDialog = (props: CompactDialogProps) => (
  <AskDialog
    {...props}
    title="Compact the conversation"
    label="What the summary should keep above all"
    empty="Empty: whatever matters. Only a model that writes the summary heeds it"
    verb="Compact"
    ask={(agent, focus) => agent.compact({ focus })}
    answerOf={(record) => (record.type === 'compaction.end' && record.requestId !== undefined ? record : undefined)}
  >
    The model will see a summary in place of the middle. What people said and pinned steps stay word for word; the log
    keeps everything.
  </AskDialog>
)
