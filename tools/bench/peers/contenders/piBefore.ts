import { Agent } from '@mariozechner/pi-agent-core'
import { createAssistantMessageEventStream, Type } from '@mariozechner/pi-ai'
import type { Contender } from '../contender.ts'
import { piAgent, type Pi } from './piAgent.ts'

/** The parts that are used; they are the same in the later packages. */
const former: unknown = { Agent, createAssistantMessageEventStream, Type }

/** The last pi-agent-core under its former name, which did less in a turn: the measure our aims were set by. */
export const piBefore: Contender = piAgent(former as Pi)
