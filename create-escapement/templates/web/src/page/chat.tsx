import { useAgent, useApprovals, useConversation } from 'escapement/react'

export function Chat({ id }: { readonly id: string }) {
  const { status, error, prompt, abort } = useAgent(id)
  const { pending } = useApprovals(id)
  return (
    <main>
      <h1>Support</h1>
      {useConversation(id).map(({ id: key, role, text }) => (
        <p key={key} className={`said ${role}`}>
          {text}
        </p>
      ))}
      {pending.length > 0 && <p className="asked">A colleague looks at it. You will read the answer here.</p>}
      <p role="status">{error?.message ?? (status === 'idle' || pending.length > 0 ? '' : status)}</p>
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
