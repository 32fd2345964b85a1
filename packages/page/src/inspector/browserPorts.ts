import { systemClock } from '../../../../src/protocol/ports/clock.ts'
import type { AgentEvent } from '../../../../src/protocol/events.ts'
import type { ServedChart } from '../../../charts/src/servedChart.ts'
import type { InspectorPorts } from './model/shell/inspector.ts'
import { KeptTexts } from './model/shell/keptTexts.ts'

/** Texts kept for the tab. In a frame a browser may refuse its storage. A token then lasts as long as the page. */
const tabTexts = new KeptTexts(() => sessionStorage)

/** Interval of updates in a hidden page, in milliseconds. It has no frames, and must not gather events without end. */
const hiddenFrameMs = 250

/** Returns the address of a path of the server, relative to the page: a proxy may serve it below a path that the server does not know of. */
const beside = (path: string): URL => new URL(path, document.baseURI)

/** Returns the path of the bridge. A server that has its bridge elsewhere sets it in the page. */
const bridgePath = (): string =>
  document.querySelector<HTMLMetaElement>('meta[name="escapement-bridge"]')?.content ?? 'bridge'

/** Milliseconds within which a new tab or a download has read its blob. */
const takenWithinMs = 60_000

function follow(blob: Blob, set: (link: HTMLAnchorElement) => void): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(blob)
  set(link)
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), takenWithinMs)
}

/** Reads a named resource of an agent from the server. Returns `null` if the server gives none. */
async function readOfAgent<T>(agentId: string, name: string, token: string | undefined): Promise<T | null> {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
  const response = await fetch(beside(`agents/${encodeURIComponent(agentId)}/${name}`), { headers })
  return response.status === 200 ? ((await response.json()) as T) : null
}

/** The ports of the inspector, as a browser provides them. */
export const browserPorts: InspectorPorts = {
  url: `${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}${beside(bridgePath()).pathname}`,
  address: {
    read: () => location.hash,
    write(hash, how) {
      if (hash === location.hash) return
      const url = hash === '' ? location.pathname + location.search : hash
      if (how === 'push') history.pushState(null, '', url)
      else history.replaceState(null, '', url)
    },
    listen(listener) {
      // A link that changes the hash fires both.
      window.addEventListener('popstate', listener)
      return () => window.removeEventListener('popstate', listener)
    },
  },
  memory: { get: () => tabTexts.get('token'), set: (token) => tabTexts.set('token', token) },
  stores: { tab: () => sessionStorage, browser: () => localStorage },
  notices: {
    state: () => (typeof Notification === 'undefined' ? 'missing' : Notification.permission),
    ask: () => Notification.requestPermission(),
    show(text) {
      // A newer one takes its place.
      const shown = new Notification('escapement', { body: text, tag: 'waiting' })
      shown.addEventListener('click', () => window.focus())
    },
    isHidden: () => document.hidden,
  },
  clock: systemClock,
  nextFrame(flush) {
    if (document.hidden) {
      const timer = setTimeout(flush, hiddenFrameMs)
      return () => clearTimeout(timer)
    }
    const frame = requestAnimationFrame(flush)
    // It may be hidden before the frame comes.
    const timer = setTimeout(flush, 1_000)
    return () => {
      cancelAnimationFrame(frame)
      clearTimeout(timer)
    }
  },
  files: {
    get: (path, headers, signal) => fetch(beside(path), { headers, signal, cache: 'no-store', redirect: 'error' }),
    open(blob) {
      if (!navigator.userActivation.isActive) return false
      follow(blob, (link) => {
        link.target = '_blank'
        link.rel = 'noopener noreferrer'
      })
      return true
    },
    save: (blob, name) => follow(blob, (link) => (link.download = name)),
    address: (blob) => URL.createObjectURL(blob),
    release: (address) => URL.revokeObjectURL(address),
  },
  readChart: (agentId, token, query) =>
    readOfAgent<ServedChart>(agentId, `chart.json${query === undefined ? '' : `?${query}`}`, token),
  readNewest: (agentId, token) => readOfAgent<AgentEvent[]>(agentId, 'newest.json', token),
}
