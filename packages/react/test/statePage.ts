// A page with the state of the agent "shared": two tabs of it edit one plan.
import { createElement as h, useState } from 'react'
import { createRoot } from 'react-dom/client'
import { connect } from '../../../src/client.ts'
import { AgentProvider, useAgentState } from '../../../src/react.ts'

// Of a browser, whose types this project does without.
declare const location: { readonly origin: string; readonly search: string }
declare const document: { readonly body: Parameters<typeof createRoot>[0] }

interface Plan {
  title: string
  readonly steps: Record<string, string>
}

const client = connect(location.origin)
const tab = new URLSearchParams(location.search).get('tab') ?? ''
/** The version that the page was loaded with, for an edit that somebody wrote without looking at the others'. */
const loaded = client.agent('shared').appState()

function Plan() {
  const [plan, change] = useAgentState('shared') as unknown as [
    Plan | undefined,
    (update: (plan: Plan) => void) => Promise<Plan>,
  ]
  const [error, setError] = useState('')
  const addSteps = async (): Promise<void> => {
    const adding = Array.from({ length: 20 }, (_, n) =>
      change((draft) => void (draft.steps[`${tab}${n}`] = `step ${n} of ${tab}`)),
    )
    await Promise.all(adding).catch((thrown: unknown) => setError(String(thrown)))
  }
  const retitle = async (): Promise<void> => {
    const { version } = await loaded
    const patch = [{ op: 'replace', path: '/title', value: `title of ${tab}` }] as const
    await client
      .agent('shared')
      .patchState(patch, version)
      .catch((thrown: unknown) => setError(String(thrown)))
  }
  return h(
    'main',
    null,
    h('h1', null, plan?.title ?? 'loading'),
    h('button', { onClick: () => void addSteps() }, 'Add steps'),
    h('button', { onClick: () => void retitle() }, 'Retitle'),
    h('p', { role: 'alert' }, error),
    h(
      'ul',
      null,
      Object.entries(plan?.steps ?? {}).map(([key, text]) => h('li', { key }, text)),
    ),
  )
}

await loaded
createRoot(document.body).render(h(AgentProvider, { client, children: h(Plan) }))
