export const greeting = 'Helo, and welcome'
export const farewell = 'Good bye'
