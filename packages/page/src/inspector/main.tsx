import { effect } from '@preact/signals'
import { render } from 'preact'
import { App, fetchViews } from './app.tsx'
import { browserPorts } from './browserPorts.ts'
import { Inspector } from './model/shell/inspector.ts'
import { loadMarkdown } from './parts/laterMarkdown.ts'

const place = document.getElementById('page')
if (place === null) throw new Error('The page has no place for the inspector.')
const inspector = new Inspector(browserPorts)
const fetchOthers = fetchViews(inspector)
render(<App inspector={inspector} />, place)

// Not before the page is drawn. Some browsers cannot say when they have nothing to do.
const whenIdle = globalThis.requestIdleCallback ?? ((work: () => void) => setTimeout(work, 200))
whenIdle(() => void loadMarkdown())
// Nor does anything come before what the address names.
const stopWaiting = effect(() => {
  if (!inspector.isReadable.value) return
  queueMicrotask(() => stopWaiting())
  whenIdle(() => void fetchOthers())
})

// In `npm run dev`: views are replaced as they change, and what they show stays.
import.meta.hot?.accept('./app.tsx', (changed) => {
  // Nothing when it has an error: Vite says so on the page.
  if (changed === undefined) return
  const { App: Changed } = changed as unknown as { readonly App: typeof App }
  render(<Changed inspector={inspector} />, place)
})
