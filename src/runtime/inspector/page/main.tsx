// oxlint-disable-next-line import/no-unassigned-import -- It must be done before zod is loaded.
import './withoutEval.ts'
import { render } from 'preact'
import { App } from './app.tsx'
import { browserPorts } from './browserPorts.ts'
import { Inspector } from './model/inspector.ts'

const place = document.getElementById('page')
if (place === null) throw new Error('The page has no place for the inspector.')
render(<App inspector={new Inspector(browserPorts)} />, place)
