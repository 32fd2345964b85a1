import type { AgentCommand, Decision } from '../../protocol/commands.ts'
import { isAsked } from '../../protocol/asked.ts'
import type { ProvenanceKind } from '../../protocol/provenance.ts'
import type { Right } from '../../protocol/rights.ts'

/** The right that each command to an agent needs, by whatever door it comes; of several, one, and what is decided says which. */
export const rightsFor: { readonly [T in AgentCommand['type']]: Right | readonly Right[] } = {
  'agent.prompt': 'talk',
  'agent.interrupt': 'talk',
  'agent.steer': 'talk',
  'agent.followUp': 'talk',
  'agent.abort': 'talk',
  'agent.resume': 'control',
  'agent.stop': 'control',
  'agent.revert': 'control',
  'agent.prune': 'control',
  'agent.graft': 'control',
  'agent.fold': 'control',
  'agent.brake': 'control',
  'agent.compact': 'control',
  'agent.use': 'use',
  'agent.pin': 'control',
  'agent.unpin': 'control',
  'agent.decide': ['approve', 'answer.own'],
}

/** Contents that were said one after the other: those before the last are context, and part of it for who may give none. */
export const saidAs = <T>({ rights }: { readonly rights: ReadonlySet<Right> }, contents: readonly T[][]): T[][] =>
  rights.has('control') || contents.length < 2 ? [...contents] : [contents.flat()]

/** A decision as its command names it. */
export const nameOf = (decision: Decision): string => (typeof decision === 'string' ? decision : 'answer')

/** A command that says more than words, as refusals name it. */
export const moreThanWords = (type: string): string => `${type} with limits, context or a provenance`

/** A client that may only talk says words: no limits of their own, and nothing in the name of others. */
export const beyondWords = (command: object): Right | undefined =>
  'limits' in command ||
  'context' in command ||
  ('provenance' in command && !isAsked(command.provenance as ProvenanceKind))
    ? 'control'
    : undefined
