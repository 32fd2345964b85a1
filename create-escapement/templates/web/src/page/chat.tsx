import { useAgent, useApprovals, useConversation } from 'escapement/react'

export function Chat({ id }: { readonly id: string }) {
  const { status, error, prompt, abort } = useAgent(id, { spawn: 'support' })
  const { pending, decide } = useApprovals(id)
  return (
    <main>
      <h1>Support</h1>
      {useConversation(id).map(({ id: key, role, text }) => (
        <p key={key} className={`said ${role}`}>
          {text}
        </p>
      ))}
      {pending.map(({ key, name, input }) => (
        <p key={key} className="asked" role="group" aria-label="Approval">
          {name} {JSON.stringify(input)}{' '}
          <button type="button" onClick={() => decide(key, 'approve')}>
            Approve
          </button>{' '}
          <button type="button" onClick={() => decide(key, 'deny')}>
            Deny
          </button>
        </p>
      ))}
      <p role="status">{error?.message ?? (status === 'idle' ? '' : status)}</p>
      <form action={(said) => void prompt(String(said.get('text')))}>
        <input name="text" required aria-label="Your message" autoComplete="off" />
        {status === 'running' ? (
          <button type="button" onClick={() => void abort()}>
            Stop
          </button>
        ) : (
          <button disabled={status !== 'idle'}>Send</button>
        )}
      </form>
    </main>
  )
}
