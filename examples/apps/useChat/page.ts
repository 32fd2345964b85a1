// The page: `useChat` of the AI SDK, over reloads and restarts of the server.
import { useChat } from '@ai-sdk/react'
import { DefaultChatTransport, isToolUIPart, type UIMessage } from 'ai'
import { lastAssistantMessageIsCompleteWithApprovalResponses as sendAutomaticallyWhen } from 'ai'
import { createElement as h, StrictMode, useEffect, useState, type ReactElement } from 'react'
import { createRoot } from 'react-dom/client'
import { escapementChat } from '../../../src/client.ts'

declare const location: { readonly hash: string }
declare const document: { readonly body: Parameters<typeof createRoot>[0] }

const id = location.hash.slice(1) || 'chat'
const transport = new DefaultChatTransport(escapementChat())

function Page({ before }: { readonly before: UIMessage[] }): ReactElement {
  const chat = useChat({ id, messages: before, transport, resume: true, sendAutomaticallyWhen })
  const [text, setText] = useState('')
  useEffect(() => {
    // The connection broke off: the run goes on, or will once the server is back.
    const timer = chat.error instanceof TypeError && setTimeout(() => void chat.resumeStream(), 500)
    return () => void (timer && clearTimeout(timer))
  }, [chat.error])
  const button = (key: string, onClick: () => unknown) => h('button', { key, type: 'button', onClick }, key)
  const partOf = (part: UIMessage['parts'][number], key: number): ReactElement | null => {
    if (part.type === 'text') return h('p', { key }, part.text)
    if (!isToolUIPart(part)) return null
    const decide = (approved: boolean) => chat.addToolApprovalResponse({ id: part.approval!.id, approved })
    const buttons = [button('Approve', () => decide(true)), button('Deny', () => decide(false))]
    const isAsked = part.state === 'approval-requested'
    return h('p', { key }, `${JSON.stringify(part.input)} ${part.state} `, isAsked ? buttons : null)
  }
  const messages = chat.messages.map(({ role, id: key, parts }) =>
    h('section', { key, className: role }, parts.map(partOf)),
  )
  const onChange = (event: { readonly target: { readonly value: string } }) => setText(event.target.value)
  const isBusy = chat.status === 'submitted' || chat.status === 'streaming'
  const act = isBusy ? button('Stop', chat.stop) : button('Send', () => (setText(''), chat.sendMessage({ text })))
  return h('main', null, messages, h('input', { value: text, onChange }), act, ` ${chat.error?.message ?? chat.status}`)
}

const before = (await (await fetch(`/api/chat/${id}`)).json()) as UIMessage[]
createRoot(document.body).render(h(StrictMode, null, h(Page, { before })))
