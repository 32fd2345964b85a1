import type { AgentCard } from '@a2a-js/sdk'
import type { AgentDefinition } from '../../../../src/actors/define/agentDefinition.ts'
import { version } from '../../../../src/protocol/version.ts'
import { sentOnce } from '../sentOnce.ts'

/** Returns the card of a definition, which is served at an address. Pure. */
export function agentCard({ name, description, output }: AgentDefinition, url: string, hasToken: boolean): AgentCard {
  const said = description || `The agent "${name}".`
  return {
    name,
    description: said,
    version,
    provider: undefined,
    supportedInterfaces: [{ url, protocolBinding: 'JSONRPC', protocolVersion: '1.0', tenant: '' }],
    capabilities: {
      streaming: true,
      pushNotifications: false,
      extensions: [
        {
          uri: sentOnce,
          description: 'A message that is sent again is carried out once.',
          required: false,
          params: undefined,
        },
      ],
      extendedAgentCard: false,
    },
    securitySchemes: hasToken ? { bearer: bearer() } : {},
    securityRequirements: hasToken ? [{ schemes: { bearer: { list: [] } } }] : [],
    defaultInputModes: ['text/plain'],
    defaultOutputModes: output === null ? ['text/plain'] : ['text/plain', 'application/json'],
    skills: [
      {
        id: name,
        name,
        description: said,
        tags: [],
        examples: [],
        inputModes: [],
        outputModes: [],
        securityRequirements: [],
      },
    ],
    signatures: [],
  }
}

const bearer = (): AgentCard['securitySchemes'][string] => ({
  scheme: {
    $case: 'httpAuthSecurityScheme',
    value: { description: 'A token of the server.', scheme: 'bearer', bearerFormat: '' },
  },
})
