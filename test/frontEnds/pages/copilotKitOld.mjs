// A page of CopilotKit as its older documentation makes one, which most pages are: `@copilotkit/react-ui`, `useCopilotAction`, `useCoAgent`.
import { createElement as h } from 'react'
import { createRoot } from 'react-dom/client'
import { CopilotKit, useCoAgent, useCopilotAction, useLangGraphInterrupt } from '@copilotkit/react-core'
import { CopilotChat } from '@copilotkit/react-ui'
// oxlint-disable-next-line import/no-unassigned-import -- Its style sheet.
import '@copilotkit/react-ui/styles.css'

function Desk() {
  useCopilotAction({
    name: 'paint',
    description: 'Paints the page.',
    parameters: [{ name: 'colour', type: 'string' }],
    handler: ({ colour }) => {
      document.body.style.background = colour
      return `painted ${colour}`
    },
  })
  useCopilotAction({
    name: 'pickColour',
    description: 'Lets a person pick.',
    parameters: [{ name: 'of', type: 'string[]' }],
    renderAndWaitForResponse: ({ args, respond, status }) =>
      status === 'executing'
        ? h(
            'p',
            null,
            (args.of ?? []).map((one) => h('button', { key: one, onClick: () => respond(one) }, one)),
          )
        : h('p', null, `picked: ${status}`),
  })
  useLangGraphInterrupt({
    render: ({ event, resolve }) =>
      h('p', null, event.value.message, h('button', { onClick: () => resolve({ approved: true }) }, 'Approve')),
  })
  const { state, setState } = useCoAgent({ name: 'desk', initialState: { title: 'of the page' } })
  const { title, steps = [] } = state ?? {}
  return h(
    'aside',
    null,
    h('p', { id: 'state' }, `${title ?? '-'}: ${steps.join(', ')}`),
    h('button', { onClick: () => setState({ title: 'mine' }) }, 'Rename'),
  )
}

const root = document.body.appendChild(document.createElement('main'))
createRoot(root).render(
  h(
    CopilotKit,
    { runtimeUrl: '/ag-ui', agent: 'desk', threadId: 't1', enableInspector: false, showDevConsole: false },
    h(Desk),
    h(CopilotChat),
  ),
)
