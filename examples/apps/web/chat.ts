// The page: a component of React that shows a conversation and says the next thing.
import { createElement as h, useState, useSyncExternalStore, type ReactElement } from 'react'
import type { ConversationStore, RemoteAgent } from '../../../src/client.ts'

export function Chat({
  agent,
  store,
}: {
  readonly agent: RemoteAgent
  readonly store: ConversationStore
}): ReactElement {
  const chat = useSyncExternalStore(store.subscribe, store.getSnapshot)
  const [text, setText] = useState('')
  const say = (): void => {
    agent.prompt(text)
    setText('')
  }
  const messages = chat.messages.map(({ id, role, text: said }) => h('p', { key: id, className: role }, said))
  const onChange = (event: { target: { value: string } }) => setText(event.target.value)
  const input = h('input', { value: text, onChange })
  const disabled = chat.status === 'running'
  return h('main', null, ...messages, input, h('button', { type: 'button', onClick: say, disabled }, 'Send'))
}
