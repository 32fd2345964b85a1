// A page of assistant-ui on `useChat` of the AI SDK: its thread, composer and parts, with approvals, a tool of the page and state.
import { createElement as h } from 'react'
import { createRoot } from 'react-dom/client'
import { useChat } from '@ai-sdk/react'
import {
  AssistantRuntimeProvider,
  ComposerPrimitive,
  ErrorPrimitive,
  MessagePrimitive,
  ThreadPrimitive,
} from '@assistant-ui/react'
import { useAISDKRuntime } from '@assistant-ui/react-ai-sdk'
import {
  DefaultChatTransport,
  lastAssistantMessageIsCompleteWithApprovalResponses,
  lastAssistantMessageIsCompleteWithToolCalls,
} from 'ai'
import { chatState, escapementChat } from 'escapement/client'

const id = 't1'
const transport = new DefaultChatTransport(escapementChat({ api: '/api/chat' }))
const sendAutomaticallyWhen = (chat) =>
  lastAssistantMessageIsCompleteWithApprovalResponses(chat) || lastAssistantMessageIsCompleteWithToolCalls(chat)

function Call({ toolName, argsText, result, status, approval, addResult, respondToApproval }) {
  const isAsked = approval !== undefined && approval.approved === undefined && status.type === 'requires-action'
  const isForPage = toolName === 'pickColour' && result === undefined
  const colours = isForPage && argsText !== '' ? JSON.parse(argsText).of : []
  return h(
    'p',
    { className: 'call' },
    `${toolName} ${status.type} ${result === undefined ? '' : JSON.stringify(result)}`,
    isAsked && h('button', { onClick: () => respondToApproval({ approved: true }) }, 'Approve'),
    isAsked && h('button', { onClick: () => respondToApproval({ approved: false, reason: 'not now' }) }, 'Deny'),
    colours.map((one) => h('button', { key: one, onClick: () => addResult(one) }, one)),
  )
}

const parts = { Text: ({ text }) => h('span', null, text), tools: { Fallback: Call } }
const AssistantMessage = () =>
  h(
    MessagePrimitive.Root,
    { 'data-testid': 'assistant-message' },
    h(MessagePrimitive.Parts, { components: parts }),
    h(MessagePrimitive.Error, null, h(ErrorPrimitive.Root, null, h(ErrorPrimitive.Message))),
  )
const UserMessage = () => h(MessagePrimitive.Root, { 'data-testid': 'user-message' }, h(MessagePrimitive.Parts))

function Page({ before }) {
  const chat = useChat({ id, messages: before, transport, resume: true, sendAutomaticallyWhen })
  const runtime = useAISDKRuntime(chat)
  const { title, steps = [] } = chatState(chat.messages)?.value ?? {}
  return h(
    AssistantRuntimeProvider,
    { runtime },
    h('p', { id: 'state' }, `${title ?? '-'}: ${steps.join(', ')}`),
    h(
      ThreadPrimitive.Root,
      null,
      h(ThreadPrimitive.Messages, { components: { UserMessage, AssistantMessage } }),
      h(
        ComposerPrimitive.Root,
        null,
        h(ComposerPrimitive.Input, { submitMode: 'enter' }),
        h(ThreadPrimitive.If, { running: true }, h(ComposerPrimitive.Cancel, null, 'Stop')),
      ),
    ),
  )
}

const before = await (await fetch(`/api/chat/${id}`)).json()
const root = document.body.appendChild(document.createElement('main'))
createRoot(root).render(h(Page, { before }))
