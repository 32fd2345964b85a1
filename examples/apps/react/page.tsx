// The page: for customers their conversation and the next thing to say, for staff what waits for them, of all conversations.
import { createRoot } from 'react-dom/client'
import { connect, type WaitingAgent } from '../../../src/client.ts'
import { AgentProvider, useAgent, useApprovals, useConversation, useWaiting } from '../../../src/react.ts'

const client = connect(location.origin)

function Chat({ id }: { readonly id: string }) {
  const { status, error, prompt } = useAgent(id)
  const waits = useApprovals(id).pending.length > 0
  return (
    <form action={(said) => void prompt(said.get('text') as string)}>
      {useConversation(id).map(({ id: key, role, text }) => (
        <p key={key} className={role}>
          {text}
        </p>
      ))}
      <p role="status">{error?.message ?? (waits ? 'A colleague looks at it.' : status)}</p>
      <input name="text" aria-label="Your message" /> <button disabled={status !== 'idle'}>Send</button>
    </form>
  )
}

function Waiting({ of: { agentId, title, metadata, pending } }: { readonly of: WaitingAgent }) {
  // Decided by the agent that is listed, which is woken by it.
  const decide = (key: string, said: 'approve' | 'deny') => void client.agent(agentId).decide(key, said)
  return pending.map(({ key, name, input }) => (
    <p key={key}>
      {String(metadata?.['customer'])}, “{title}”: {name} {JSON.stringify(input)}{' '}
      <button onClick={() => decide(key, 'approve')}>approve</button>
      <button onClick={() => decide(key, 'deny')}>deny</button>
    </p>
  ))
}

const Inbox = () => {
  const all = useWaiting()
  return all.length === 0 ? (
    <p role="status">Nothing waits.</p>
  ) : (
    all.map((one) => <Waiting key={one.agentId} of={one} />)
  )
}

const me = (await (await fetch('/me')).json()) as { readonly conversation?: string }
createRoot(document.body).render(
  <AgentProvider client={client}>{me.conversation ? <Chat id={me.conversation} /> : <Inbox />}</AgentProvider>,
)
