import { useState } from 'preact/hooks'
import { counted } from '../../../../../charts/src/amounts.ts'
import type { NodeId } from '../../../../../../src/protocol/ids.ts'
import { formatNodeId } from '../../../../../../src/protocol/text/nodeIds.ts'
import { textOf } from '../../../../../../src/protocol/text/messageText.ts'
import type { FollowedAgent } from '../../model/agent/followedAgent.ts'
import { sharedBy } from '../../model/branches/forks.ts'
import type { Inspector } from '../../model/shell/inspector.ts'
import { say } from '../../model/agent/say.ts'
import { oneLine } from '../../model/words/shortText.ts'
import { FormDialog } from '../../parts/formDialog.tsx'

export interface ForkDialogProps {
  readonly inspector: Inspector
  readonly view: FollowedAgent
  readonly node: NodeId
  readonly onClose: () => void
}

/** Starts a fork that shares the past up to a message, says something to it if that is wanted, and shows it. */
export function ForkDialog({ inspector, view, node, onClose }: ForkDialogProps) {
  const { conversation } = view.state.value
  const { connection, directory } = inspector.attached.value
  const [text, setText] = useState('')
  const [isAsking, setAsking] = useState(false)
  const [wrong, setWrong] = useState('')
  const step = formatNodeId(node)
  const shared = sharedBy(conversation, node)
  const at = conversation.node(node)
  const quoted = at === undefined ? '' : oneLine(textOf(at.message.content), 200)
  const fork = async (): Promise<void> => {
    setAsking(true)
    try {
      const { agentId } = await connection.client.agent(view.agentId).fork(step)
      onClose()
      void directory.readSessions()
      inspector.go({ agent: agentId, view: 'conversation' })
      const said = text.trim()
      if (said !== '') await inspector.attempt(() => say(connection.client.agent(agentId), 'prompt', said))
    } catch (thrown) {
      setWrong((thrown as Error).message)
      setAsking(false)
    }
  }
  return (
    <FormDialog title={`Fork at ${step}`} verb="Fork" isOff={isAsking} onSubmit={() => void fork()} onClose={onClose}>
      {quoted === '' ? null : (
        <blockquote class="fork-quote cut" dir="auto">
          {quoted}
        </blockquote>
      )}
      <p class="muted">
        The fork shares {shared.messages === 0 ? 'everything' : `the first ${counted(shared.messages, 'message')}`}
        {shared.turns === 0 ? '' : ` (${counted(shared.turns, 'turn')})`} up to {formatNodeId(shared.last)} and nothing
        after it. This agent and the files on disk stay as they are.
      </p>
      <label class="field">
        <span>First prompt</span>
        <textarea
          dir="auto"
          class="input"
          rows={4}
          value={text}
          placeholder="Optional"
          onInput={({ currentTarget }) => setText(currentTarget.value)}
        />
      </label>
      {wrong === '' ? null : (
        <p class="problem" role="alert">
          {wrong}
        </p>
      )}
    </FormDialog>
  )
}
