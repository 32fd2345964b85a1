import { useMemo } from 'preact/hooks'
import { counted } from '../../charts/amounts.ts'
import { previewPrune } from '../../conversation/reshapePreview.ts'
import type { NodeId } from '../../protocol/ids.ts'
import { formatNodeId } from '../../protocol/nodeIds.ts'
import type { FollowedAgent } from '../model/followedAgent.ts'
import type { Inspector } from '../model/inspector.ts'
import { AskDialog } from './askDialog.tsx'
import { Freed, LeavingList } from './leavingList.tsx'

interface ReshapeProps {
  readonly inspector: Inspector
  readonly view: FollowedAgent
  readonly onClose: () => void
}

/** A person's prune: a step is hidden from the model, and a memo takes its place. */
export function PruneDialog({ node, ...rest }: ReshapeProps & { readonly node: NodeId }) {
  const { conversation, lastSeq } = rest.view.state.value
  const step = formatNodeId(node)
  // The conversation is one object that grows.
  const preview = useMemo(() => previewPrune(conversation, { step }), [conversation, lastSeq, step])
  const isKnown = typeof preview !== 'string'
  return (
    <AskDialog
      {...rest}
      title={`Hide ${step}`}
      fields={isKnown ? <LeavingList nodes={preview.nodes} /> : null}
      whyNot={isKnown ? undefined : preview.replace(/^prune refused: /, '')}
      label="The memo that the model will read in its place"
      empty="Empty: nothing takes its place"
      verb={isKnown ? `Hide ${counted(preview.nodes.length, 'message')}` : 'Hide'}
      ask={(agent, memo) => agent.prune({ steps: [step], memo })}
      answerOf={(record) => (record.type === 'prune.applied' && record.by !== 'runtime' ? record : undefined)}
    >
      The model will not see the step with all its results any more; the log keeps it.{' '}
      {isKnown ? <Freed {...preview} left="memo" /> : null}
    </AskDialog>
  )
}

/** A person's compaction: a summary takes the place of the middle of the conversation. */
export const CompactDialog = (props: ReshapeProps) => (
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
