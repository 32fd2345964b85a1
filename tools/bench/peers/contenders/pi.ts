import { Agent } from '@earendil-works/pi-agent-core'
import { createAssistantMessageEventStream } from '@earendil-works/pi-ai'
import { Type } from 'typebox'
import type { Contender } from '../contender.ts'
import { piAgent } from './piAgent.ts'

/** pi-agent-core under its present name. */
export const pi: Contender = piAgent({ Agent, createAssistantMessageEventStream, Type })
