// A page of CopilotKit, as its documentation makes one: its chat, tools of the page, a person in the middle, approvals, shared state.
// `?url=` is the runtime, or with `&http` an AG-UI endpoint that the page talks with by itself; `&thread=` is the thread.
import { createElement as h } from 'react'
import { createRoot } from 'react-dom/client'
import { z } from 'zod'
import {
  CopilotChat,
  CopilotKit,
  HttpAgent,
  useAgent,
  useDefaultRenderTool,
  useFrontendTool,
  useHumanInTheLoop,
  useInterrupt,
} from '@copilotkit/react-core/v2'
// oxlint-disable-next-line import/no-unassigned-import -- Its style sheet.
import '@copilotkit/react-core/v2/styles.css'

const asked = new URLSearchParams(location.search)
const url = asked.get('url')
const threadId = asked.get('thread')

/** A tool that the page carries out, one that asks, and what waits at the server. */
function Desk() {
  useFrontendTool({
    name: 'paint',
    description: 'Paints the page.',
    parameters: z.object({ colour: z.string() }),
    handler: async ({ colour }) => {
      document.body.style.background = colour
      return { painted: colour }
    },
  })
  useHumanInTheLoop({
    name: 'pickColour',
    description: 'Lets a person pick.',
    parameters: z.object({ of: z.array(z.string()) }),
    render: ({ args, status, respond, result }) =>
      status === 'executing'
        ? h(
            'p',
            null,
            'Pick: ',
            (args.of ?? []).map((one) => h('button', { key: one, onClick: () => respond(one) }, one)),
          )
        : h('p', null, `picked: ${status} ${result ?? ''}`),
  })
  useInterrupt({
    render: ({ interrupts, resolve, cancel }) =>
      h(
        'div',
        { id: 'asked' },
        interrupts.map(({ id, message }) =>
          h(
            'p',
            { key: id },
            message,
            h('button', { onClick: () => resolve({ approved: true }, id) }, 'Approve'),
            h('button', { onClick: () => resolve({ approved: false, reason: 'not now' }, id) }, 'Deny'),
            h('button', { onClick: () => cancel(id) }, 'Cancel'),
          ),
        ),
      ),
  })
  useDefaultRenderTool({
    render: ({ name, status, result }) => h('p', { className: 'call' }, `${name} ${status} ${result ?? ''}`),
  })
  const { agent } = useAgent()
  const { title, steps = [] } = agent.state ?? {}
  return h(
    'aside',
    null,
    h('p', { id: 'state' }, `${title ?? '-'}: ${steps.join(', ')}`),
    h('button', { onClick: () => agent.setState({ ...agent.state, title: 'mine' }) }, 'Rename'),
    h('button', { onClick: () => agent.setState({ title: 'only mine' }) }, 'Replace'),
    h('p', { id: 'running' }, agent.isRunning ? 'running' : 'resting'),
  )
}

const errors = h('pre', { id: 'errors' })
const onError = ({ code, error }) => {
  document.querySelector('#errors').textContent += `${code}: ${error.message}\n`
}
const connection = asked.has('http')
  ? { agents__unsafe_dev_only: { default: new HttpAgent({ url, ...(threadId === null ? {} : { threadId }) }) } }
  : { runtimeUrl: url }

const root = document.body.appendChild(document.createElement('main'))
createRoot(root).render(
  h(
    CopilotKit,
    { ...connection, enableInspector: false },
    h(Desk),
    h(CopilotChat, { onError, ...(threadId === null ? {} : { threadId }) }),
    errors,
  ),
)
