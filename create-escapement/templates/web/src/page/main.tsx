import { createRoot } from 'react-dom/client'
import { connect } from 'escapement/client'
import { AgentProvider } from 'escapement/react'
import { Chat } from './chat.tsx'

// The visitor's own conversation; the server lets only staff see it besides.
const id = await (await fetch('/conversation')).text()
const client = connect(location.origin)

createRoot(document.body).render(
  <AgentProvider client={client}>
    <Chat id={id} />
  </AgentProvider>,
)
