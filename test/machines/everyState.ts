import type { AgentPolicy } from '../../src/machines/agentPolicy.ts'
import { AgentScript, askGraft, askPrune, askRevert } from './agentScript.ts'
import { goBack } from './undoScript.ts'

/** States as the chart names them; `paused` by why. */
export type Place =
  | 'idle'
  | 'preparing'
  | 'replying.requesting'
  | 'replying.streaming'
  | 'backoff'
  | 'executing'
  | 'draining.pins'
  | 'draining.reverts'
  | 'draining.grafts'
  | 'draining.prunes'
  | 'draining.undoing'
  | 'draining.folding'
  | 'draining.checking'
  | 'draining.consulting'
  | 'compacting'
  | 'compacting for an overflow'
  | 'settling'
  | 'paused by a limit'
  | 'paused for approvals'
  | 'paused by the store'
  | 'stopped'

const roads: { readonly [P in Place]: (script: AgentScript) => void } = {
  idle: () => {},
  preparing: (script) => script.prompt('go'),
  'replying.requesting': (script) => script.prompt('go'),
  'replying.streaming': (script) => {
    script.prompt('go')
    script.firstToken()
  },
  backoff: (script) => {
    script.prompt('go')
    script.failReply('network')
  },
  executing: (script) => {
    script.prompt('go')
    script.reply({ calls: ['c1', 'c2'] })
  },
  'draining.pins': (script) => {
    script.prompt('go')
    script.reply()
    script.prompt('go')
    script.pin('n2')
    script.reply()
  },
  'draining.reverts': (script) => {
    script.prompt('go')
    script.reply({ calls: ['c1'] })
    script.finishCall('c1', { brake: askRevert })
  },
  'draining.grafts': (script) => {
    script.prompt('go')
    script.reply({ calls: ['c1'] })
    script.finishCall('c1', { brake: askGraft })
  },
  'draining.undoing': (script) => {
    script.prompt('go')
    script.reply({ calls: ['c1'] })
    script.finishCall('c1', { brake: askRevert })
    goBack(script, 3)
  },
  'draining.prunes': (script) => {
    script.prompt('go')
    script.reply({ calls: ['c1'] })
    script.finishCall('c1', { brake: askPrune })
  },
  'draining.checking': (script) => {
    script.prompt('go')
    script.reply({ calls: ['c1'] })
    script.finishCall('c1')
  },
  'draining.consulting': (script) => {
    script.prompt('go')
    script.reply({ calls: ['c1'] })
    script.finishCall('c1')
  },
  'draining.folding': (script) => {
    script.prompt('go')
    script.reply({ calls: ['c1'], contextTokens: 5_000, foldAt: 4_000 })
    script.finishCall('c1')
  },
  compacting: (script) => {
    script.prompt('go')
    script.reply({ calls: ['c1'], contextTokens: 50_000 })
    script.finishCall('c1')
  },
  'compacting for an overflow': (script) => {
    script.prompt('go')
    script.failReply('overflow')
  },
  settling: (script) => {
    script.prompt('go')
    script.abort()
  },
  'paused by a limit': (script) => {
    script.prompt('go', { limits: { turns: 1 } })
    script.reply({ calls: ['c1'] })
    script.finishCall('c1')
  },
  'paused for approvals': (script) => {
    script.prompt('go')
    script.reply({
      calls: [
        { callId: 'c1', held: true },
        { callId: 'c2', held: true },
      ],
    })
  },
  'paused by the store': (script) => {
    script.prompt('go')
    script.failStore()
  },
  stopped: (script) => script.stop(),
}

export const places = Object.keys(roads) as Place[]

/** Busy: a run is open. */
export const busyPlaces = places.filter(
  (place) => !['idle', 'paused by a limit', 'paused by the store', 'stopped'].includes(place),
)

/** Policy that an agent needs to come to a place: the draining places and `preparing` need their switches on. */
export function policyFor(place: Place): Partial<AgentPolicy> {
  const off = { revert: false, prune: false, fold: false, stall: false, policies: false, compact: true }
  if (place === 'preparing') return { flags: { ...off, turns: true } }
  if (!place.startsWith('draining')) return {}
  const stall = place === 'draining.checking'
  const policies = place === 'draining.consulting'
  return { flags: { ...off, revert: true, prune: true, fold: true, stall, policies }, reversible: ['tool'] }
}

/** A fresh agent taken to a place. */
export function agentIn(place: Place, policy: Partial<AgentPolicy> = {}): AgentScript {
  const script = new AgentScript({ ...policyFor(place), ...policy })
  roads[place](script)
  const expected = place.replace(/ .*$/, '')
  if (script.state !== expected) throw new Error(`the road to ${place} led to ${script.state}`)
  return script
}
