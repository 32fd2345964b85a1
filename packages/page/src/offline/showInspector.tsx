import { effect, untracked } from '@preact/signals'
import { render } from 'preact'
import { App, fetchViews } from '../inspector/app.tsx'
import { browserPorts } from '../inspector/browserPorts.ts'
import { Inspector, type Address, type InspectorPorts } from '../inspector/model/shell/inspector.ts'
import { loadMarkdown } from '../inspector/parts/laterMarkdown.ts'
import { chart } from '../../../charts/src/chart.ts'
import { layoutAsked, servedChart } from '../../../charts/src/servedChart.ts'
import { keptArtifact } from '../../../bridge/src/server/artifacts/keptArtifact.ts'
import type { InProcessServer } from '../../../bridge/src/inProcess/inProcessServer.ts'

export interface ShowOptions {
  /** Notes at the top of the page, which stay after navigation there. Read again when a signal that they read changes. */
  readonly notes?: (inspector: Inspector) => readonly string[]
  /** Address in which the page keeps its route. Default: the part of the document's address after the `#`. */
  readonly address?: Address
}

/** An inspector that is shown. */
export interface ShownInspector {
  readonly inspector: Inspector
  /** Removes the inspector from the page. Agents keep running. */
  close(): void
}

const notFound = (): Response => new Response('{}', { status: 404 })

/** Returns the ports of a page without a server: requests besides the socket are answered here. */
function portsOf(server: InProcessServer, address: Address): InspectorPorts {
  const { access, url, webSocket } = server
  return {
    ...browserPorts,
    url,
    webSocket,
    address,
    // It needs no token, and one in an address is not for it.
    memory: { get: () => undefined, set: () => {} },
    // All of it is here.
    readNewest: async () => [],
    async readChart(agentId, _token, query) {
      const subject = await access.charted(agentId)
      return await servedChart(chart(subject, { format: 'json' }), layoutAsked(new URLSearchParams(query)))
    },
    files: {
      ...browserPorts.files,
      async get(path) {
        const [, agentId = '', id = ''] = /^agents\/([^/]+)\/artifacts\/([0-9a-f]{64})$/.exec(path) ?? []
        const found = await keptArtifact(access, decodeURIComponent(agentId), id)
        if (found === undefined) return notFound()
        const { content, mimeType } = found
        return new Response(new Uint8Array(content), { headers: { 'content-type': mimeType } })
      },
    },
  }
}

/** Adds the notes to the problems of the address. Navigation clears these, so the notes are added again. */
function tell({ problems }: Inspector, notes: readonly string[]): void {
  const told = untracked(() => problems.value)
  const more = notes.filter((note) => !told.includes(note))
  if (more.length > 0) problems.value = [...told, ...more]
}

/** Shows the inspector in an element, over agents and sessions of this page alone. Its styles are those of `inspector/styles/page.css`. */
export function showInspector(
  place: HTMLElement,
  server: InProcessServer,
  { notes, address = browserPorts.address }: ShowOptions = {},
): ShownInspector {
  const inspector = new Inspector(portsOf(server, address))
  const fetchOthers = fetchViews(inspector)
  const stop = effect(() => tell(inspector, notes?.(inspector) ?? []))
  render(<App inspector={inspector} />, place)
  // All of it is there: nothing of it need come later than the page.
  void Promise.all([loadMarkdown(), fetchOthers()])
  return {
    inspector,
    close() {
      stop()
      render(null, place)
      inspector.close()
    },
  }
}
