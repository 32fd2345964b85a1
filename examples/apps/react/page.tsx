// The page: one conversation, what is asked of people, and the next thing to say.
import { createElement as h } from 'react'
import { createRoot } from 'react-dom/client'
import { connect, type ChatMessage, type ChatPending } from '../../../src/client.ts'
import { AgentProvider, useAgent, useApprovals, useConversation } from '../../../src/react.ts'

const client = connect(location.origin)
const id = (localStorage['conversation'] ??= crypto.randomUUID())

const Said = ({ of: { role, text } }: { of: ChatMessage }) => <p className={role}>{text}</p>

function Asked({ of: { key, name, input } }: { of: ChatPending }) {
  const { decide } = useApprovals(id)
  const button = (said: 'approve' | 'deny') => h('button', { type: 'button', onClick: () => decide(key, said) }, said)
  return h('p', null, `${name} ${JSON.stringify(input)} `, button('approve'), button('deny'))
}

function Chat() {
  const { status, error, prompt } = useAgent(id, { spawn: 'desk' })
  const messages = useConversation(id).map((message) => <Said key={message.id} of={message} />)
  const asked = useApprovals(id).pending.map((pending) => <Asked key={pending.key} of={pending} />)
  return (
    <form action={(said) => void prompt(said.get('text') as string)}>
      {[...messages, ...asked]}
      <p role="status">{error?.message ?? status}</p>
      <input name="text" aria-label="Your message" /> <button disabled={status !== 'idle'}>Send</button>
    </form>
  )
}

createRoot(document.body).render(<AgentProvider client={client} children={<Chat />} />)
