import type { ChatMessage } from '../../bridge/src/client/fold/chat.ts'
import { useAgentView } from './useAgent.ts'

/**
 * Returns the messages in order; the last reply grows. A message keeps its `id`, and while nothing about it changes it is the same object,
 * so components wrapped in `memo` are drawn anew only for new messages and changes. Messages that the model no longer sees stay, with
 * `hidden`; `after` is the message that each one follows, so that with reverted messages they form a tree.
 *
 * @throws RuntimeError `PROVIDER_MISSING`
 *
 * @example
 * ```ts no-run
 * import { createElement } from 'react'
 * import { useConversation } from 'escapement/react'
 *
 * const Conversation = ({ id }: { id: string }) =>
 *   useConversation(id).map(({ id: key, role, text }) => createElement('p', { key, className: role }, text))
 * ```
 */
export const useConversation = (id: string): readonly ChatMessage[] =>
  useAgentView('useConversation', id, (view) => view.chat.messages)
