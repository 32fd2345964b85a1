// The options that `escapementChat` gives are those of the transport of the AI SDK.
import { DefaultChatTransport, type UIMessage } from 'ai'
import { escapementChat } from '../../src/client.ts'

export const transport = new DefaultChatTransport<UIMessage>(escapementChat({ api: '/api/chat' }))
