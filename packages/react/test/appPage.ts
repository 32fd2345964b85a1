// A page with the app of a call, which `/data.json` has; it offers some of what an app may want.
import { createElement as h, useState } from 'react'
import { createRoot } from 'react-dom/client'
import { McpApp } from '../../../src/react.ts'

// Of a browser, whose types this project does without.
declare const document: { readonly body: Parameters<typeof createRoot>[0] }

const data: unknown = await (await fetch('/data.json')).json()

function Shown() {
  const [said, setSaid] = useState('')
  const app = h(McpApp, {
    data,
    input: { of: 'hours' },
    title: 'The chart',
    say: (text) => setSaid(`It says ${text}`),
    callTool: async (name, input) => {
      setSaid(`It called ${name} with ${JSON.stringify(input)}`)
      return { content: [], structuredContent: { points: 7 } }
    },
  })
  return h('main', null, h('p', { role: 'status' }, said), app, h(McpApp, { data: { other: 1 } }))
}

createRoot(document.body).render(h(Shown))
