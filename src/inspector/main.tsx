import { zodConfig } from './withoutEval.ts'
import { render } from 'preact'
import { App } from './app.tsx'
import { browserPorts } from './browserPorts.ts'
import { Inspector } from './model/inspector.ts'

const place = document.getElementById('page')
// A use, so that no bundler leaves it out: it is set before zod is loaded.
if (place === null || !zodConfig.jitless) throw new Error('The page has no place for the inspector.')
render(<App inspector={new Inspector(browserPorts)} />, place)
