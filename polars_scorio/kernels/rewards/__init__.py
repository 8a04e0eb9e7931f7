"""Real-valued rewards: estimates of questions, their noise, and its price, without any fit."""
