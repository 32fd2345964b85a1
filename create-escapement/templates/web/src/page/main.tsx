import { createRoot } from 'react-dom/client'
import { connect } from 'escapement/client'
import { AgentProvider } from 'escapement/react'
import { Chat } from './chat.tsx'

const client = connect(location.origin)
// The visitor's own conversation; the server lets nobody else see it.
const id = (localStorage['conversation'] ??= crypto.randomUUID()) as string

createRoot(document.body).render(
  <AgentProvider client={client}>
    <Chat id={id} />
  </AgentProvider>,
)
